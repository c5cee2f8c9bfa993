suspended('J:Junior').
